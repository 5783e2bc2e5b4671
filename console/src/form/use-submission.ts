import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { splitFailure } from './field-errors';
import { randomText } from './random-text';

interface SubmissionOptions<Values, Result> {
  /** Also names the fields, as the messages of the service do. */
  initialValues: Values;
  /** Returns what is wrong with a field that the browser does not let out, if anything. */
  validate?: (values: Values) => Partial<Record<keyof Values, string>>;
  /** @throws FieldError for an error that belongs beside a field. */
  send: (values: Values, idempotencyKey: string) => Promise<Result>;
  onSent: (result: Result) => void;
}

/** A form that is sent once: sending the same values again after a failure repeats the same request. */
export function useSubmission<Values extends Record<string, string>, Result>(
  options: SubmissionOptions<Values, Result>,
) {
  const { initialValues, validate, send, onSent } = options;
  const names = Object.keys(initialValues);
  const form = useForm<Values>({ initialValues, ...(validate && { validate }) });
  const attempt = useRef({ content: '', idempotencyKey: '' });
  // A screen reader reads the error of a field that gets the focus.
  const focusFirst = (errors: Partial<Record<string, unknown>>) => {
    const first = names.find((name) => errors[name] !== undefined);
    form.getInputNode(first ?? '')?.focus();
  };
  const submission = useMutation({
    mutationFn: (values: Values) => {
      const content = JSON.stringify(values);
      if (attempt.current.content !== content) {
        attempt.current = { content, idempotencyKey: randomText() };
      }
      return send(values, attempt.current.idempotencyKey);
    },
    // Its result may be a new API key, which must not outlast the form.
    gcTime: 0,
    onSuccess: (result) => {
      attempt.current = { content: '', idempotencyKey: '' };
      form.reset();
      onSent(result);
    },
    onError: (error) => {
      const errors = splitFailure(error, names);
      if (errors !== null) {
        form.setErrors(errors.fields);
        focusFirst(errors.fields);
      }
    },
  });
  const { error, isPending } = submission;
  const isBesideFields = splitFailure(error, names)?.rest === null;
  const sendOnce = (values: Values) => {
    if (!isPending) {
      submission.mutate(values);
    }
  };
  const whenValid = (then: (values: Values) => void) => form.onSubmit(then, focusFirst);
  return {
    form,
    isPending,
    /** The failure, unless the messages beside the fields show all of it. */
    error: isBesideFields ? null : error,
    /** Sends the values once they are valid. */
    submit: whenValid(sendOnce),
    /** Calls back with the values once they are valid, for a form that asks before it sends. */
    whenValid,
    send: sendOnce,
    /** Forgets a failure, but neither what was typed nor what is being sent. */
    clearErrors: () => {
      form.clearErrors();
      if (!isPending) {
        submission.reset();
      }
    },
  };
}
