// A real OpenTelemetry Collector with one receiver (OTLP) and one exporter, which appends what arrived to a file, a line of OTLP JSON for
// each request. It has nothing else, so that its build is short. Tests compare its file with what Daylight tells about itself.
package main

import (
	"context"
	"log"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// The settings of the exporter `lines`.
type lines struct {
	Path string `mapstructure:"path"`
}

// Appends one line. A line is one write, and the file is in append mode, so lines never mix.
func (l *lines) add(line []byte, err error) error {
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(line, '\n'))
	return err
}

func traces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	l := cfg.(*lines)
	return exporterhelper.NewTraces(ctx, set, cfg, func(_ context.Context, traces ptrace.Traces) error {
		return l.add((&ptrace.JSONMarshaler{}).MarshalTraces(traces))
	})
}

func metrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	l := cfg.(*lines)
	return exporterhelper.NewMetrics(ctx, set, cfg, func(_ context.Context, metrics pmetric.Metrics) error {
		return l.add((&pmetric.JSONMarshaler{}).MarshalMetrics(metrics))
	})
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](exporter.NewFactory(
		component.MustNewType("lines"),
		func() component.Config { return &lines{} },
		exporter.WithTraces(traces, component.StabilityLevelStable),
		exporter.WithMetrics(metrics, component.StabilityLevelStable),
	))
	return otelcol.Factories{Receivers: receivers, Exporters: exporters, Telemetry: otelconftelemetry.NewFactory()}, err
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0.165.0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
			DefaultScheme:     "file",
		}},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}
