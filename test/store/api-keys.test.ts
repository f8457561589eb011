import { expect, test } from 'vitest';
import { API_KEY_ROLES, createApiKey, ensureApiKey, findApiKey, revokeApiKey } from '../../store/api-keys.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase();

for (const role of API_KEY_ROLES) {
  test(`a key with the role ${role} is found by itself only`, async () => {
    const { id, key } = await createApiKey(database, { role, name: 'shop' });
    expect(key).toMatch(new RegExp(`^paidonce_${role}_[A-Za-z0-9_-]{43}$`));
    expect(await findApiKey(database, key)).toEqual({ id, name: 'shop', role });
    expect(await findApiKey(database, `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).toBeUndefined();
  });
}

test('a role written over in the key makes it another key', async () => {
  const { key } = await createApiKey(database, { role: 'read', name: 'shop' });
  expect(await findApiKey(database, key.replace('_read_', '_operate_'))).toBeUndefined();
});

test('the key itself is nowhere in the table', async () => {
  const { key } = await createApiKey(database, { role: 'write', name: 'shop' });
  const { rows } = await database.query<{ row: string }>('select api_keys::text as row from api_keys');
  expect(rows.filter(({ row }) => row.includes(key.slice(-43)))).toEqual([]);
  const bytes = Buffer.from(key).toString('hex');
  expect(rows.filter(({ row }) => row.includes(bytes))).toEqual([]);
});

test('a revoked key opens nothing, and is revoked once', async () => {
  const { id, key } = await createApiKey(database, { role: 'write', name: 'shop' });
  expect(await revokeApiKey(database, id)).toBe(true);
  expect(await findApiKey(database, key)).toBeUndefined();
  expect(await revokeApiKey(database, id)).toBe(false);
});

test('the development key is stored once however often the stack starts, and does not come back from revocation', async () => {
  const key = `paidonce_operate_${'k'.repeat(43)}`;
  const ids = await Promise.all(Array.from({ length: 8 }, () => ensureApiKey(database, { key, name: 'development' })));
  expect(new Set(ids).size).toBe(1);
  expect(await findApiKey(database, key)).toEqual({ id: ids[0], name: 'development', role: 'operate' });
  await revokeApiKey(database, ids[0]!);
  await ensureApiKey(database, { key, name: 'development' });
  expect(await findApiKey(database, key)).toBeUndefined();
});

test('what is not a key is neither stored nor looked up', async () => {
  for (const text of ['', 'secret', `paidonce_admin_${'k'.repeat(43)}`, `paidonce_read_${'k'.repeat(42)}`]) {
    await expect(ensureApiKey(database, { key: text, name: 'x' })).rejects.toThrow('An API key looks like');
    expect(await findApiKey(database, text)).toBeUndefined();
  }
});
