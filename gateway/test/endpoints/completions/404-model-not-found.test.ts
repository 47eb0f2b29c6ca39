import { missingModels } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

missingModels(completionsEndpoint);
