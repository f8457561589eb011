/**
 * The health check of a container: exit code 0 when GET on the given address answers 2xx within four seconds. The images have no
 * curl, and Node is there anyway. Usage: node deploy/check-health.mjs http://127.0.0.1:8080/readyz
 */
const [address = 'http://127.0.0.1:8080/healthz'] = process.argv.slice(2);

try {
  const response = await fetch(address, { signal: AbortSignal.timeout(4_000) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
} catch (error) {
  process.stderr.write(`${address}: ${error.message}\n`);
  process.exitCode = 1;
}
