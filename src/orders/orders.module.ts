import { Module } from '@nestjs/common';
import { OrderRepository } from './order.repository.js';
import { OrdersController } from './orders.controller.js';

@Module({ controllers: [OrdersController], providers: [OrderRepository], exports: [OrderRepository] })
export class OrdersModule {}
