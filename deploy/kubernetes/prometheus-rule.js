import { readFileSync, writeFileSync } from 'node:fs';

/**
 * `node deploy/kubernetes/prometheus-rule.js` writes the alerts of `deploy/prometheus/rules.yml` as an
 * object of the Prometheus Operator.
 */
const rules = readFileSync(new URL('../prometheus/rules.yml', import.meta.url), 'utf8');

const head = `# Generated from deploy/prometheus/rules.yml by \`node deploy/kubernetes/prometheus-rule.js\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: animal-store
  labels:
    app.kubernetes.io/name: animal-store
spec:
`;
writeFileSync(
  new URL('overlays/production/prometheus-rule.yaml', import.meta.url),
  head + rules.replaceAll(/^(?=.)/gm, '  '),
);
