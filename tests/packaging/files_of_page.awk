# Writes the files that a page shows: each fenced block whose first line is a comment with a path, below the folder `out`.
/^```/ {
  if (inside) { inside = 0; if (file) close(file); file = ""; next }
  inside = 1; isFirst = 1; next
}
inside && isFirst {
  isFirst = 0
  if (match($0, /^(\/\/|#) [a-z_]+\/[A-Za-z_.]+$/)) {
    split($0, words, " ")
    file = out "/" words[2]
    folder = file; sub(/\/[^\/]*$/, "", folder)
    system("mkdir -p '" folder "'")
    printf "" > file
    next
  }
}
inside && file { print > file }
