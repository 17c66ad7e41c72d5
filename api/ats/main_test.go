package ats_test

import (
	"testing"

	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(espeaktest.Tests{M: m}) }
