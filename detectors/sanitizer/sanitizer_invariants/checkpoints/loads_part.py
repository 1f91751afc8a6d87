"""What a state dictionary has under another path is loaded as well."""

import weakref

import torch

from sanitizer_invariants.checkpoints.loads_nothing import has_own_loading
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of

# Names that torch's own wrappers put into a path.
WRAPPERS = {
    ("module",), ("_orig_mod",), ("_fsdp_wrapped_module",), ("_checkpoint_wrapped_module",)
}  # fmt: skip
LENGTH = 3


class LoadsPart(Invariant):
    """A part of a module that finds nothing in a state dictionary is not there under a longer or
    shorter path.

    Why: `strict=False` allows names that are missing and names too many. Where a part was compiled
    or wrapped as it was saved, its names have a word more (`encoder._orig_mod.weight`), or now have
    one. They are both, missing and too many: this part stays random, and the rest is loaded.

    Of names that lack the same words at the same place, and fit in their shapes; of two matrices at
    least, or one where the words are those of a wrapper of torch. The part is used with the weights
    that it had.

    Excepted: what `loads-nothing` sees; another copy of what is loaded too (a teacher, an average);
    tensors that are loaded elsewhere under their names, and weights that equal them; modules that
    change names as they load.

    Cost: a comparison of names for each loading; sums of the weights of such a part.
    """

    NAME = "loads-part"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.pending, self.loading, self.fitting = IdentityTable(), None, {}

    def before_load(self, loaded, state):
        self.loading = None
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "items"):
            return
        tensors = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
        own = dict((*loaded.named_parameters(), *loaded.named_buffers()))
        fitting = own.keys() & tensors.keys()
        if not fitting or any(map(has_own_loading, loaded.modules())):
            return
        missing = {name: tensor for name, tensor in own.items() if name not in tensors}
        vain = None
        for words, pairs in find_paths(own, tensors).items():
            if is_part(words, pairs, own):
                sums = {name: checksum_of(missing[name]) for name in pairs}
                sources = {name: tensors[source] for name, source in pairs.items()}
                if any(sums[name] != checksum_of(sources[name]) for name in sums):
                    references = [weakref.ref(source) for source in sources.values()]
                    vain = Vain(words, pairs, sums, references, self.program.here())
        self.loading = [tensors[name] for name in fitting], vain

    def after_load(self, loaded):
        """The loading has not failed."""
        loading, self.loading = self.loading, None
        if loading is None:
            return
        tensors, vain = loading
        self.fitting = {key: item for key, item in self.fitting.items() if item() is not None}
        # By number, as `==` of tensors is another thing.
        self.fitting.update((id(tensor), weakref.ref(tensor)) for tensor in tensors)
        if vain is not None:
            self.pending[loaded] = vain

    def before_forward(self, module, arguments, options):
        if not self.pending:
            return
        parts = set(map(id, module.modules()))
        for loaded in [waiting for waiting in self.pending if id(waiting) in parts]:
            vain, own = self.pending.pop(loaded), dict(loaded.named_parameters())
            own.update(loaded.named_buffers())
            is_same = all(
                name in own and checksum_of(own[name]) == value for name, value in vain.sums.items()
            )
            if is_same and not any(map(self._fits, vain.references)):
                self._report(loaded, vain)

    def _fits(self, reference):
        """Whether a tensor of the state was loaded somewhere under its name."""
        tensor = reference()
        return tensor is not None and id(tensor) in self.fitting

    def _report(self, loaded, vain):
        name, source = next(iter(vain.pairs.items()))
        self.report(
            f"{len(vain.pairs)} tensors of a state dictionary are not loaded into the "
            f"{type(loaded).__name__}, as their path differs: {source} is there, and {name} is "
            "looked for",
            api="torch.nn.Module.load_state_dict",
            parameter=name,
            where=vain.where,
        )


class Vain:
    """Tensors that were not loaded: their paths, the sums of what the module has in their place,
    and where the loading is.
    """

    def __init__(self, words, pairs, sums, references, where):
        self.words, self.pairs, self.sums = words, pairs, sums
        self.references, self.where = references, where


def find_paths(own, tensors):
    """The names of a module that a state has with words more or less: by the place of the words,
    the words, and which of the two has them; None where a tensor so named is loaded as well.
    """
    missing, extra = own.keys() - tensors.keys(), tensors.keys() - own.keys()
    paths = {}
    for longer, shorter, is_longer in ((extra, own, True), (missing, tensors, False)):
        for name in sorted(longer, reverse=True):
            for place, words, rest in cut(name):
                if rest not in shorter:
                    continue
                key, pair = (place, words, is_longer), (rest, name) if is_longer else (name, rest)
                # A pair of which one is loaded under its own name makes the other a copy.
                is_copy = pair[0] not in missing or pair[1] not in extra
                paths.setdefault(key, {})[pair[0]] = None if is_copy else pair[1]
    return paths


def cut(name):
    """A path without some of its words: the words before them, they, and the rest joined."""
    words = name.split(".")
    for start in range(len(words) - 1):
        for end in range(start + 1, min(start + LENGTH, len(words) - 1) + 1):
            if not all(word.isdigit() for word in words[start:end]):
                rest = ".".join(words[:start] + words[end:])
                yield tuple(words[:start]), tuple(words[start:end]), rest


def is_part(path, pairs, own):
    """Whether these names are a part of a module under another path."""
    if None in pairs.values():
        return False
    matrices = sum(own[name].dim() > 1 for name in pairs)
    return matrices >= (1 if path[1] in WRAPPERS else 2)
