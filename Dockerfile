# The newest line of Node with long-term support, the same in every stage.
FROM node:26.10.0-trixie-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33 AS production-packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
# These packages serve, migrate and seed. Prisma's client works without its CLI, and `animal-store migrate` needs only the schema
# engine. `dist` contains the client's query compiler. The service needs no types or source maps of packages.
RUN npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts \
    && find node_modules/@prisma/client/runtime -name 'query_compiler_*' -delete \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
    && find node_modules -type d -empty -delete && rm node_modules/animal-store-console

FROM node:26.10.0-trixie-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --ignore-scripts
# The console first, so that a change of the service does not rebuild it.
COPY client/src client/src
COPY console console
COPY src/auth/rules/scope.ts src/auth/rules/
COPY src/http/routes/catalogue.ts src/http/routes/
COPY src/usage/rules/request-id.ts src/usage/rules/
RUN npm run build:console
COPY nest-cli.json tsconfig.json tsconfig.build.json prisma.config.ts ./
COPY prisma prisma
COPY dev/bundle.js dev/
COPY src src
RUN npm run build:service

FROM node:26.10.0-trixie-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33
# With an arena for each thread, the C library would keep up to 60 MB more of freed buffers.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
WORKDIR /app
COPY package.json ./
COPY prisma/*.mjs prisma/
COPY prisma/migrations prisma/migrations
COPY --from=production-packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/console/dist console/dist
# `animal-store migrate`, `animal-store seed`, administration, and the health check.
RUN ln -s /app/dist/cli/admin.js /usr/local/bin/animal-store
ARG VERSION=1.1.0
# Empty in a build by hand; the release job sets both.
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Animal Store" \
      org.opencontainers.image.description="An HTTP/JSON service for the animals of a store, with API keys and exact rate limits per plan." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["animal-store", "probe", "livez"]
# Node is process 1, so it receives the signals.
CMD ["node", "--enable-source-maps", "--max-old-space-size=512", "dist/main.js"]
