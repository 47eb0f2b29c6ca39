import { useCall } from "../../../api/use-call.ts";
import { NameFilter } from "./name-filter.tsx";

export function ModelFilter() {
  const models = useCall("models.list");
  return <NameFilter name="model" label="Model" names={models.data?.data.map((model) => model.name) ?? []} />;
}
