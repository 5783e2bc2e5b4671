# The newest line of Node with long-term support, by the same name in both stages.
FROM node:26.10.0-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY nest-cli.json tsconfig.json tsconfig.build.json prisma.config.ts ./
COPY prisma prisma
COPY src src
RUN npm run build && chmod +x dist/cli/admin.js
# What is left serves, migrates and seeds. Prisma's commands are a peer of its client, which works without; `animal-store migrate`
# has the schema engine alone. Prisma's client brings a compiler for each database, in several forms, of which one is ours.
# Types and source maps of packages are for those who write programs.
RUN npm prune --omit=dev --omit=optional --omit=peer --ignore-scripts \
    && find node_modules/@prisma/client/runtime -name 'query_compiler_*' \
      ! -name 'query_compiler_fast_bg.postgresql.mjs' ! -name 'query_compiler_fast_bg.postgresql.wasm-base64.mjs' -delete \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
    && find node_modules -type d -empty -delete

FROM node:26.10.0-trixie-slim
# One arena: with one for each thread, the C library keeps up to 60 MB more of buffers that were freed.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
WORKDIR /app
COPY package.json ./
COPY prisma/*.mjs prisma/
COPY prisma/migrations prisma/migrations
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# `animal-store migrate`, `animal-store seed`, and administration.
RUN ln -s /app/dist/cli/admin.js /usr/local/bin/animal-store
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "dist/cli/probe.js", "livez"]
# Node itself is process 1 and gets the signals.
CMD ["node", "--enable-source-maps", "--max-old-space-size=512", "dist/main.js"]
