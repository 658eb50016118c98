#include "meters/master.h"
