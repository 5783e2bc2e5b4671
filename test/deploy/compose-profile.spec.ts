import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { describeOnPrometheus, promtool } from './prometheus-server.js';

const ROOT = path.join(__dirname, '..', '..');
const read = (file: string) => parse(readFileSync(path.join(ROOT, file), 'utf8'), { merge: true });

/** The services of the profile `observability`. */
const profile = (): Record<string, { volumes: string[]; ports?: string[] }> =>
  Object.fromEntries(
    Object.entries<{ profiles?: string[]; volumes: string[] }>(read('docker-compose.yml').services).filter(
      ([, { profiles = [] }]) => profiles.includes('observability'),
    ),
  );

describe('the Compose profile observability', () => {
  it('has Prometheus, Grafana and a collector, which mount existing files and listen locally only', () => {
    expect(Object.keys(profile()).toSorted()).toEqual(['collector', 'grafana', 'prometheus']);
    for (const { volumes, ports = [] } of Object.values(profile())) {
      const files = volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':'));
      expect(files).not.toStrictEqual([]);
      expect(
        files.filter(([file = '', , mode]) => !existsSync(path.join(ROOT, file)) || mode !== 'ro'),
      ).toStrictEqual([]);
      expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toStrictEqual([]);
    }
  });

  it('scrapes the port that .env.example advises, and sends spans where the collector listens', () => {
    const advice = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
    const [job] = read('deploy/prometheus/prometheus.yml').scrape_configs;
    expect(advice).toContain(`METRICS_PORT=${job.dns_sd_configs[0].port}`);
    const { endpoint } = read('deploy/opentelemetry/collector.yml').receivers.otlp.protocols.http;
    const port = endpoint.split(':')[1];
    expect(advice).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:${port}`);
  });

  it('gives Grafana its source and the folder of the dashboard', () => {
    const [source] = read('deploy/grafana/provisioning/datasources/prometheus.yml').datasources;
    const { scrape_interval: interval } = read('deploy/prometheus/prometheus.yml').global;
    expect(source).toMatchObject({
      type: 'prometheus',
      url: 'http://prometheus:9090',
      isDefault: true,
      jsonData: { timeInterval: interval },
    });
    const [provider] = read('deploy/grafana/provisioning/dashboards/animal-store.yml').providers;
    const folder: string = provider.options.path;
    expect(profile()['grafana']?.volumes.join('\n')).toContain(`:${folder}/animal-store.json:ro`);
  });

  it('has a collector whose pipelines name only what it configures', () => {
    const { service, ...parts } = read('deploy/opentelemetry/collector.yml');
    for (const pipeline of Object.values<Record<string, string[]>>(service.pipelines)) {
      for (const [kind, names] of Object.entries(pipeline)) {
        expect(Object.keys(parts[kind])).toEqual(expect.arrayContaining(names));
      }
    }
  });
});

describeOnPrometheus('deploy/prometheus/prometheus.yml', () => {
  it('is valid by promtool', async () => {
    const output = await promtool('check', 'config', path.join(ROOT, 'deploy/prometheus/prometheus.yml'));
    expect(output).toContain('is valid prometheus config file syntax');
  });
});
