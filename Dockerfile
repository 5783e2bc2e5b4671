FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

# What brings a database up to date: `npx prisma migrate deploy` and `npx prisma db seed`.
FROM build AS migrate
USER node
CMD ["sh", "-c", "npx prisma migrate deploy && npx prisma db seed"]

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist dist
# Only to tell which migrations a database lacks.
COPY prisma/migrations prisma/migrations
# The terminal of administration, as `animal-store …`.
RUN chmod +x dist/cli/admin.js && ln -s /app/dist/cli/admin.js /usr/local/bin/animal-store
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--max-old-space-size=512", "dist/main.js"]
