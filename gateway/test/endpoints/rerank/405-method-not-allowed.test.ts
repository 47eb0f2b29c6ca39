import { otherMethods } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

otherMethods(rerankEndpoint);
