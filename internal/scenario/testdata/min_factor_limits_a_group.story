# The queue limits how fast any wait counts, and explain says that it did.

site hall
queue main
  min_factor: 0.5
  groups: {board: {factor: 0.1}}

join ann group=board → A001
expect explain ann factor=0.5 clipped=true text.en~"limited"
