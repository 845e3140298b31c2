import { describe, expect, it } from 'vitest';
import { MissingPackageError } from '../../../../src/errors.js';
import { openContainer } from '../../../../src/filesystem/azure/azure-client.js';
import { openGcs } from '../../../../src/filesystem/gcs/gcs-access.js';
import { readGcsOptions } from '../../../../src/filesystem/gcs/gcs-options.js';

const absent = async () => {
  throw Object.assign(new Error("Cannot find package 'x' imported from /somewhere"), { code: 'ERR_MODULE_NOT_FOUND' });
};
const endpoint = 'https://account.blob.core.windows.net';

describe('a store whose SDK is not installed', () => {
  it('says what to install: gs', async () => {
    const options = readGcsOptions({ configuration: new Map() }, 'bucket');
    const error: unknown = await openGcs(options, absent).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MissingPackageError);
    expect(error).toMatchObject({
      category: 'usage',
      message:
        'gs: needs the package @google-cloud/storage, which is not installed; run: npm install -g @google-cloud/storage@7',
      data: { install: 'npm install -g @google-cloud/storage@7' },
    });
  });

  it('says what to install: abfss, and identity only where it is needed', async () => {
    const storage = () => import('@azure/storage-blob');
    const packages = { storage, identity: absent };
    const open = (kind: 'default' | 'anonymous', from = packages) =>
      openContainer({ endpoint, isCustomEndpoint: false, credentials: { kind }, secrets: [] }, 'abfss', 'c', from);
    await expect(open('default')).rejects.toThrow(/^abfss: .*run: npm install -g @azure\/identity@4\.12$/);
    await expect(open('anonymous')).resolves.toBeDefined();
    await expect(open('anonymous', { storage: absent, identity: absent })).rejects.toThrow(
      /^abfss: .*run: npm install -g @azure\/storage-blob@12\.32$/,
    );
  });

  it('passes on any other failure of loading it', async () => {
    const options = readGcsOptions({ configuration: new Map() }, 'bucket');
    const broken = new SyntaxError('unexpected end');
    await expect(openGcs(options, () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
