import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";

export function RemoveModel({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const remove = useAct("models.remove", {
    invalidates: ["models.list", "providers.list"],
    done: `Model ${name} is removed.`,
    onDone: () => void navigate({ to: "/models", search: {} }),
  });
  return (
    <ConfirmButton
      title={`Remove ${name}?`}
      verb="Remove model"
      label="Remove"
      typed={name}
      onConfirm={() => remove.mutateAsync({ params: { model: name } })}
    >
      Calls for it are refused at once. Its requests, costs and prices stay on record. This cannot be taken back.
    </ConfirmButton>
  );
}
