import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from './page';

export function NotFoundPage() {
  return (
    <Page
      title="There is no such page"
      description="The address may be mistyped, or the page is for administrators."
    >
      <div>
        <Button component={Link} to="/">
          Go to the overview
        </Button>
      </div>
    </Page>
  );
}
