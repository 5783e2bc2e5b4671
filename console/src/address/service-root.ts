const { content } = document.querySelector<HTMLMetaElement>('meta[name="service-root"]') ?? { content: '/' };

/** The address below which the service has `console`, `docs` and `v1`, with the prefix of a proxy, if any. */
export const SERVICE_ROOT = new URL(content, document.baseURI).href;
