import { Modal } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { createBody, draftBlocked, newDraft } from "../../catalog/provider-draft.ts";
import { ProviderFields } from "../../catalog/provider-fields.tsx";
import { useKinds } from "../../catalog/use-kinds.ts";
import { KindGallery } from "./kind-gallery.tsx";

interface AddProviderProps {
  /** The chosen kind; anything else: it is yet to be chosen. */
  readonly kind: string;
  readonly onKind: (kind: string) => void;
  readonly onClose: () => void;
  /** Ids that are in use. */
  readonly taken: readonly string[];
}

/** First the kind, then what it asks. The new provider is tried at once, on its own page. */
export function AddProvider({ kind, onKind, onClose, taken }: AddProviderProps) {
  const { kinds, kindOf } = useKinds();
  const form = kindOf(kind);
  if (form !== null) {
    return <NewProvider key={form.kind} form={form} taken={taken} onClose={onClose} onBack={() => onKind("choose")} />;
  }
  return (
    <Modal opened onClose={onClose} title={t("providers.addAProviderWhichKind")} size="56rem" centered={false}>
      <KindGallery kinds={kinds} onChoose={onKind} />
    </Modal>
  );
}

interface NewProviderProps {
  readonly form: ProviderKindForm;
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onBack: () => void;
}

function NewProvider({ form, taken, onClose, onBack }: NewProviderProps) {
  const [draft, setDraft] = useState(() => newDraft(form.kind, taken));
  const navigate = useNavigate();
  const create = useAct("providers.create", {
    invalidates: afterCatalogChange,
    inline: true,
    done: (provider) => t("providers.providerIsAdded", { id: provider.id }),
    onDone: ({ id }) =>
      void navigate({
        to: "/providers/$provider",
        params: { provider: id },
        search: { tab: "test", run: "now" },
      }),
  });
  return (
    <FormDrawer
      opened
      title={t("providers.add", { title: form.title })}
      verb={t("providers.saveAndTest")}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: createBody(draft, form) })}
      saving={create.isPending}
      problem={create.error}
      blocked={draftBlocked(draft, form, true)}
    >
      <button type="button" className="text-button fit" onClick={onBack}>
        {t("providers.chooseAnotherKind")}
      </button>
      <ProviderFields draft={draft} onChange={setDraft} form={form} isNew problem={create.error} />
    </FormDrawer>
  );
}
