import { Injectable } from '@nestjs/common';

/** What the last check of the health found of the database's tables. */
@Injectable()
export class SchemaState {
  /** Whether they are those that this version needs; null while that is unknown. */
  isUsable: boolean | null = null;
}
