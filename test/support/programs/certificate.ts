import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from './programs.js';

/** What the certificate is issued for. */
export const CERTIFIED_HOST = 'localhost';

/** The files of a certificate, which is its own authority, and of its private key. */
export interface Certificate {
  folder: string;
  certificate: string;
  key: string;
}

/** Creates a certificate for `CERTIFIED_HOST`, which is valid for a day and for no address. */
export async function createCertificate(): Promise<Certificate> {
  const folder = await createFolder('certificate-');
  const [certificate, key] = [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
  const ofKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key];
  const ofHost = ['-subj', `/CN=${CERTIFIED_HOST}`, '-addext', `subjectAltName=DNS:${CERTIFIED_HOST}`];
  const files = ['-days', '1', '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', ...ofKey, ...ofHost, ...files]);
  return { folder, certificate, key };
}
