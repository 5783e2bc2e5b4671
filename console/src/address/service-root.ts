const { content } = document.querySelector<HTMLMetaElement>('meta[name="service-root"]') ?? { content: '/' };

/** The address below which the service has `console`, `docs` and `v1`; a proxy may have put a prefix before them. */
export const SERVICE_ROOT = new URL(content, document.baseURI).href;
