package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

const configFlag = "config"

// The places a setting can come from, strongest first.
const (
	fromFlag        = "flag"
	fromEnvironment = "environment"
	fromFile        = "file"
	fromDefault     = "default"
)

// sourceAnnotation notes on a flag where its value came from.
const sourceAnnotation = "source"

// envName is the environment variable of a setting: VISAVIS_ADMIN_ADDR of admin-addr.
func envName(flag string) string {
	return "VISAVIS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// resolve fills in the flags that were not given, from the environment and
// then from the settings file.
func resolve(flags *pflag.FlagSet) error {
	file, err := settingsFile(flags)
	if err != nil {
		return err
	}
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		source := fromDefault
		value, inFile := file[f.Name]
		delete(file, f.Name)
		env, inEnv := os.LookupEnv(envName(f.Name))
		switch {
		case f.Changed:
			source = fromFlag
		case inEnv:
			source = fromEnvironment
			err = set(f, strings.Split(env, ","))
		case inFile:
			source = fromFile
			err = set(f, value)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("setting %s from the %s: %w", f.Name, source, err))
			err = nil
		}
		annotate(f, source)
	})
	return errors.Join(errs...)
}

// set gives a flag a value; one that takes a list gets all the values.
func set(f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(slices.DeleteFunc(values, func(s string) bool { return s == "" }))
	}
	return f.Value.Set(strings.Join(values, ","))
}

func annotate(f *pflag.Flag, source string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[sourceAnnotation] = []string{source}
}

// settingsFile reads the file that --config or VISAVIS_CONFIG names. A file
// may serve several roles: settings that this one does not have are not its
// business, but ones that no role has are a mistake.
func settingsFile(flags *pflag.FlagSet) (map[string][]string, error) {
	path, err := flags.GetString(configFlag)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = os.Getenv(envName(configFlag))
	}
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	var raw map[string]any
	if err := yaml.Unmarshal(content, &raw); err != nil {
		return nil, fmt.Errorf("settings file %s: %w", path, err)
	}
	known := everySetting()
	settings := map[string][]string{}
	for name, value := range raw {
		if known.Lookup(name) == nil {
			return nil, fmt.Errorf("settings file %s: there is no setting %q", path, name)
		}
		if list, ok := value.([]any); ok {
			for _, item := range list {
				settings[name] = append(settings[name], text(item))
			}
			continue
		}
		settings[name] = []string{text(value)}
	}
	return settings, nil
}

// text is a value of the file as a flag is given it: a number in digits alone.
func text(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
