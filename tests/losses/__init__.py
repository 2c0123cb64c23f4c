"""A fuzzer for loss: browsers that write on one blog while network, login and server fail them."""
