import { createServer } from 'node:http';

/** Stands in the application's place and tells what it was given. STUB_FAILURE makes it fail at its start. */
if (process.env.STUB_FAILURE !== undefined) {
  process.stderr.write(`${process.env.STUB_FAILURE}\n`);
  process.exit(3);
}

const names = [
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'GATEWAYS',
  'DEVELOPMENT_API_KEY',
  'STUB_NOTE',
];
const given = Object.fromEntries(names.map((name) => [name, process.env[name] ?? null]));
const hasSecret = (process.env.PAYMENT_TOKEN_SECRET ?? '').length >= 32;
const server = createServer((_request, response) => response.end(JSON.stringify({ ...given, hasSecret })));
server.listen(Number(process.env.API_PORT), process.env.API_HOST, () => {
  process.stdout.write(`${JSON.stringify({ address: `http://${process.env.API_HOST}:${process.env.API_PORT}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
