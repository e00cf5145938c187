import Configuration
import Logging
