"""The app of a metric's Space: a file of predictions in; numbers, picture and table out."""
