// NestJS with its stock throttler and Prisma, as their documentation has them; on Express with `express` as its argument,
// else on Fastify.

import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

const app =
  process.argv[2] === 'express'
    ? await NestFactory.create(AppModule)
    : await NestFactory.create(AppModule, new FastifyAdapter());
app.useGlobalPipes(new ValidationPipe({ transform: true }));
await app.listen(Number(process.env['PORT']), '127.0.0.1');
