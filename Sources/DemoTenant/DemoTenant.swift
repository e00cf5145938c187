import Crypto
import CryptoExtras
import JWTKit
