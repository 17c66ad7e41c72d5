package clients

import _ "github.com/oapi-codegen/runtime" // what generated clients import
