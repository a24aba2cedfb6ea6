"""What is due: the reference's answer in float64, its gradients, what else is asked, and how far it may be missed."""
