import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { ICluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1';
import type {
  IPrometheusRule,
  IServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import type { IDeployment, IStatefulSet } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { ISecret, IService, IServiceAccount } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { findProgram } from '../support/programs/programs.js';

export const DEPLOY = path.join(__dirname, '..', '..', 'deploy');

/** A type with all its fields, which a test would fail without. */
type Complete<T> = T extends object ? { [Name in keyof T]-?: Complete<NonNullable<T[Name]>> } : T;

type KubernetesObject = Complete<
  | ICluster
  | IDeployment
  | IHorizontalPodAutoscaler
  | IIngress
  | INetworkPolicy
  | IPodDisruptionBudget
  | IPrometheusRule
  | ISecret
  | IService
  | IServiceAccount
  | IServiceMonitor
  | IStatefulSet
>;
type Kind = KubernetesObject['kind'];
type ObjectOf<K extends Kind> = Extract<KubernetesObject, { kind: K }>;

export type Deployment = ObjectOf<'Deployment'>;
export type PodSpec = Deployment['spec']['template']['spec'];
export type ContainerSpec = PodSpec['containers'][number];
export type Labels = Record<string, string>;

/** All programs `kubectl` on the PATH. Without one, logs it; in CI, throws. */
export function findKubectls(): string[] {
  if (findProgram('kubernetes-client', 'kubectl') === undefined) {
    return [];
  }
  const existing = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => existsSync(folder));
  // One folder may be a link to another, as /bin is to /usr/bin.
  const folders = new Set(existing.map((folder) => realpathSync(folder)));
  return [...folders].map((folder) => path.join(folder, 'kubectl')).filter((file) => existsSync(file));
}

/** The objects of an overlay, as `kubectl apply -k` sends them. */
export class Manifests {
  private constructor(readonly objects: KubernetesObject[]) {}

  static render(kubectl: string, overlay: string): Manifests {
    const folder = path.join(DEPLOY, 'kubernetes/overlays', overlay);
    const yaml = execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8', stdio: 'pipe' });
    const objects = parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject);
    // Versions of Kustomize write them in different orders.
    const identify = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
    return new Manifests(objects.toSorted((a, b) => (identify(a) < identify(b) ? -1 : 1)));
  }

  all<K extends Kind>(kind: K): ObjectOf<K>[] {
    return this.objects.filter((object) => object.kind === kind) as ObjectOf<K>[];
  }

  /** Returns the first object of this kind and name. @throws Error if there is none. */
  get<K extends Kind>(kind: K, name?: string): ObjectOf<K> {
    const found = this.all(kind).find(({ metadata }) => name === undefined || metadata.name === name);
    if (found === undefined) {
      throw new Error(`There is no ${kind} ${name}`);
    }
    return found;
  }
}
