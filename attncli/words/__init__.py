"""Whatever a person reads, in English and Chinese: one table for each place where it is read; a term stands once.

What the judge says of a submission is composed where it is found, in the judge, and comes with the report.
"""
