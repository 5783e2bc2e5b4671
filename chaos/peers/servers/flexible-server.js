// Express with rate-limiter-flexible: the middleware of its wiki, with the headers of its README. They leave
// open what to do when the store fails; here Express responds with 500.

import express from 'express';

export const OPTIONS = { points: 60, duration: 60 };

const headers = ({ msBeforeNext, remainingPoints }) => ({
  'Retry-After': String(msBeforeNext / 1000),
  'X-RateLimit-Limit': String(OPTIONS.points),
  'X-RateLimit-Remaining': String(remainingPoints),
  'X-RateLimit-Reset': String(Math.ceil((Date.now() + msBeforeNext) / 1000)),
});

export function serve(limiter) {
  const app = express();
  app.use(async (request, response, next) => {
    try {
      response.set(headers(await limiter.consume(request.headers.authorization)));
    } catch (rejection) {
      if (rejection instanceof Error) {
        throw rejection;
      }
      response.set(headers(rejection)).status(429).send('Too Many Requests');
      return;
    }
    next();
  });
  app.get('/v1/pets', (_request, response) => {
    response.json([]);
  });
  app.listen(Number(process.env.PORT), '127.0.0.1');
}
