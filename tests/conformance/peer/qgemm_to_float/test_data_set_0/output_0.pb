J<F¶vA[dœAJŒuA×AøS[A×UAyé†A>
dAÃµÂA³@A]HA”˜WAàÏlA·³ÃAä%IA