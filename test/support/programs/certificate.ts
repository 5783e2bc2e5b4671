import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from './programs.js';

/** The files of a certificate, which is its own authority, and of its private key. */
export interface Certificate {
  folder: string;
  certificate: string;
  key: string;
}

/** Creates a certificate for a host name, which is valid for a day and for no address. The folder is the caller's to remove. */
export async function createCertificate(host: string): Promise<Certificate> {
  const folder = await createFolder('certificate-');
  const [certificate, key] = [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
  const ofKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key];
  const ofHost = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-days',
    '1',
    ...ofKey,
    ...ofHost,
    '-out',
    certificate,
  ]);
  return { folder, certificate, key };
}
