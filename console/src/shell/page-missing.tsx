import { Button } from "@mantine/core";
import { IconMapQuestion } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../components/empty-state.tsx";
import { PageFrame } from "../components/page-frame.tsx";

export function PageMissing() {
  return (
    <PageFrame title="No such page">
      <EmptyState
        icon={<IconMapQuestion />}
        title="There is nothing at this address"
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>Go to the first page</Button>}
      >
        The address may be mistyped, or the page has moved.
      </EmptyState>
    </PageFrame>
  );
}
