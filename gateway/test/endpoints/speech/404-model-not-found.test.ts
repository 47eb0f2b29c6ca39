import { missingModels } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

missingModels(speechEndpoint);
