/** The method of a request. Methods that change something have another colour. */
export function Method({ method }: { method: string }) {
  return (
    <span className="try-method" data-changes={method !== 'GET'}>
      {method}
    </span>
  );
}
