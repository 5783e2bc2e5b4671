import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';

const STATUSES = ['available', 'pending', 'sold'] as const;
type Status = (typeof STATUSES)[number];

export class PetQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @Type(() => Number)
  @IsInt()
  cursor = 0;

  @IsOptional()
  @IsIn(STATUSES)
  status?: Status;
}

export class NewPet {
  @IsString()
  @Length(1, 255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: Status;
}

export interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: Status;
}
