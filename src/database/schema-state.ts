import { Injectable } from '@nestjs/common';

/** Whether the database has what this version needs, as the last check of the health found. */
@Injectable()
export class SchemaState {
  isUsable = true;
}
