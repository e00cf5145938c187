import Crypto
import GRDB
