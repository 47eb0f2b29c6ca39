import { missingModels } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

missingModels(completionsEndpoint);
