import type { PetStatus } from 'animal-store-client';
import { StatusBadge } from '../format/status-badge';

const COLORS: Record<PetStatus, string> = { available: 'forest.6', pending: 'yellow.6', sold: 'indigo.5' };

export function PetStatusBadge({ status }: { status: PetStatus | undefined }) {
  return <StatusBadge status={status} color={status && COLORS[status]} />;
}
