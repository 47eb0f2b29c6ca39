import { IconLock } from "@tabler/icons-react";
import { EmptyState } from "../../components/empty-state.tsx";
import { PageFrame } from "../../components/page-frame.tsx";

/** A page that only administrators may see, for somebody who came by its address. */
export function ForAdministrators({ title }: { readonly title: string }) {
  return (
    <PageFrame title={title}>
      <div className="table-empty">
        <EmptyState icon={<IconLock />} title="For administrators">
          Providers hold the accounts that pay for calls, so only administrators of this gateway see them. Ask one of
          them if a model does not answer.
        </EmptyState>
      </div>
    </PageFrame>
  );
}
