"""What is drawn and called: a challenge's folder, its facts and motifs, the recorder, and the cases they make."""
