import { otherMethods } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

otherMethods(rerankEndpoint);
