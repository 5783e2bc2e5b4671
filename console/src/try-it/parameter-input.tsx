import { Anchor, Select, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import type { Parameter } from './operations';
import { inline } from './prose';
import type { Suggestion } from './suggestions';

interface ParameterInputProps {
  parameter: Parameter;
  suggestion: Suggestion | null;
  /** The props of the form for this field. */
  field: GetInputPropsReturnType;
}

/** The field of one parameter: a choice, or any text, because the service validates it. */
export function ParameterInput({ parameter, suggestion, field }: ParameterInputProps) {
  const { name, required, description, choices, isInteger, defaultValue, example } = parameter;
  const placeholder =
    defaultValue !== null ? `${defaultValue} if empty` : example === null ? undefined : `Such as ${example}`;
  const shared = {
    ...field,
    label: name,
    labelProps: { className: 'try-parameter' },
    description: description === '' ? undefined : inline(description),
    withAsterisk: required,
    required,
  };
  if (choices !== null) {
    return (
      <Select
        {...shared}
        data={choices}
        placeholder={placeholder ?? 'Any'}
        clearable
        value={field.value || null}
        onChange={(value) => field.onChange(value ?? '')}
      />
    );
  }
  return (
    <div>
      <TextInput
        {...shared}
        placeholder={placeholder}
        inputMode={isInteger ? 'numeric' : 'text'}
        autoComplete="off"
        spellCheck={false}
      />
      {suggestion !== null && (
        <Anchor
          component="button"
          type="button"
          size="xs"
          mt={4}
          onClick={() => field.onChange(suggestion.value())}
        >
          {suggestion.label}
        </Anchor>
      )}
    </div>
  );
}
