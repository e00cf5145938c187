print("companion")
