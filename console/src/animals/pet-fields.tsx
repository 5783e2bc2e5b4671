import { NativeSelect, type TextProps, TextInput } from '@mantine/core';
import type { NewPet, Pet } from 'animal-store-client';
import type { ComponentProps, ReactNode } from 'react';
import { toInteger } from '../form/integer';
import { UntrustedText } from '../format/untrusted-text';
import { PetStatusBadge } from './pet-status-badge';

type InputProps = Pick<ComponentProps<'input'>, 'value' | 'defaultValue'>;

export interface ShownField {
  label: string;
  /** @param style of a text, where a long one must not take much room. */
  show: (pet: Pet, style?: TextProps) => ReactNode;
}

/** A field that a new animal may have. */
interface EnteredField extends ShownField {
  input: (props: InputProps) => ReactNode;
  /** Returns what is sent for a text; the service checks it. */
  read: (text: string) => unknown;
}

const STATUSES = [
  { value: '', label: 'None' },
  { value: 'available', label: 'Available' },
  { value: 'pending', label: 'Pending' },
  { value: 'sold', label: 'Sold' },
];

/** Every field of an animal, as the table, the drawer and the form show it. */
export const PET_FIELDS: {
  [Name in keyof Required<Pet>]: Name extends keyof NewPet ? EnteredField : ShownField;
} = {
  name: {
    label: 'Name',
    show: ({ name }, style) => (
      <UntrustedText fw={550} {...style}>
        {name}
      </UntrustedText>
    ),
    input: (props) => <TextInput {...props} label="Name" withAsterisk autoComplete="off" data-autofocus />,
    read: (text) => text,
  },
  id: { label: 'ID', show: ({ id }) => String(id) },
  categoryId: {
    label: 'Category',
    show: ({ categoryId }) => String(categoryId),
    input: (props) => (
      <TextInput
        {...props}
        label="Category ID"
        description="Any whole number"
        withAsterisk
        autoComplete="off"
        inputMode="numeric"
      />
    ),
    read: toInteger,
  },
  status: {
    label: 'Status',
    show: ({ status }) => <PetStatusBadge status={status} />,
    input: (props) => <NativeSelect {...props} label="Status" data={STATUSES} />,
    read: (text) => text || undefined,
  },
};
