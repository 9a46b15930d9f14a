# Makefile - one file, out of tree, registries made from file names. See README.md; knobs:
#   SAN=address,undefined | thread   COV=1   V=1   CC=   CUDA=/usr/local/cuda   PREFIX=/usr/local   DESTDIR=   BUILD=
SHELL     := /bin/bash
CC        := $(if $(filter default,$(origin CC)),gcc,$(CC))
CUDA      ?= /usr/local/cuda
PREFIX    ?= /usr/local
SAN       ?=
COV       ?=
BUILD     ?= build$(if $(SAN),$(if $(findstring thread,$(SAN)),-tsan,-san))$(if $(COV),-cov)
Q         := $(if $(V),,@)
OPT       ?= $(if $(SAN),-O1,-O2)
WERROR    ?=

nvtx      := $(wildcard $(CUDA)/include/nvtx3/nvToolsExt.h)
# Under a sanitizer gcc's data flow warns of what is not so.
warnings  := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-missing-field-initializers
CPPFLAGS  += -I. -I$(BUILD)/gen -D_GNU_SOURCE $(if $(nvtx),-isystem $(CUDA)/include -DHAVE_NVTX)
CFLAGS    += -std=c11 $(OPT) $(if $(SAN),-g1,-g) -fPIC -fvisibility=hidden -fno-math-errno -ffp-contract=off -pthread $(if $(SAN),,$(warnings)) $(if $(WERROR),-Werror) \
             $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all) $(if $(COV),--coverage)
LDFLAGS   += -pthread $(if $(SAN),-fsanitize=$(SAN)) $(if $(COV),--coverage)
# The GDN and attention kernels are the hot loops; they are compiled for the machine at hand's vectors by clones, not flags.
base_libs     := -lsqlite3 -lm -ldl
# The library that goes into other people's programs carries its own SQLite, so that it neither uses nor disturbs theirs.
# Old systems have threads and dlopen in files of their own (collector/portable/glibc.c).
inject_libs   := -Wl,-Bstatic -lsqlite3 -Wl,-Bdynamic -lm -ldl -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
analyzer_libs := -lyajl -lz -lzstd -larchive
kernels_libs  := -lopenblas -lyajl

.DELETE_ON_ERROR:
.PHONY: all dist tests tests-threads check check-long update bench fuzz lint format coverage repro manuals install clean deps FORCE help gpu-check
.PRECIOUS: $(BUILD)/obj/%.o $(BUILD)/gen/%
.DEFAULT_GOAL := all

# ---- what exists is what files exist ----
sources   = $(sort $(wildcard $(addsuffix /*.c,$(1))))
kfolders := $(addprefix kernels/,device comm ops layout modes model vectors)
src_schemas   := $(call sources,schemas)
src_reports   := $(call sources,reports)
src_analyzer  := $(filter-out analyzer/main.c,$(call sources,analyzer))
src_kernels   := $(filter-out kernels/bench.c,$(call sources,kernels $(kfolders)))
src_collector := $(filter-out $(if $(nvtx),,collector/source_nvtx.c),$(call sources,collector))
gen_analyzer  := cmds importers table_descs exporters
gen_reports   := renderers assets
gen_kernels   := modes bench_cmds device_backends comm_backends vector_forms machines configs matrices
gen_collector := event_sources

objects   = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
genobj    = $(patsubst %,$(BUILD)/obj/gen/%.o,$(1))
libs      := schemas reports analyzer kernels collector
lib       = $(BUILD)/ar/lib$(1).a

# CUDA: sources are compiled by nvcc where there is a toolkit, through a compiler cache where there is one, for nvcc is slow;
# in plain builds by gcc only.
NVCC      ?= $(wildcard $(CUDA)/bin/nvcc)
nvcc_run  := $(if $(NVCC),$(shell command -v ccache) $(NVCC))
CUDA_ARCH ?= 80 90
cu_tables := $(sort $(wildcard $(addsuffix /*.cu,kernels/device kernels/layout kernels/modes kernels/ops)))
src_cuda  := $(sort $(wildcard kernels/device/cuda/*.c kernels/device/cuda/*.cu)) $(cu_tables)
src_nccl  := $(sort $(wildcard kernels/comm/nccl/*.c kernels/comm/nccl/*.cu))
with_cuda := $(if $(NVCC),$(if $(SAN)$(COV)$(findstring clang,$(CC)),,yes))
cuda_modules := $(if $(with_cuda),$(addprefix $(BUILD)/lib/cpscope/,device_cuda.so $(if $(wildcard $(CUDA)/include/nccl.h),comm_nccl.so)))

all: $(BUILD)/bin/cpscope $(BUILD)/bin/cpbench $(BUILD)/lib/libcpscope.so $(BUILD)/lib/cpscope/comm_mpi.so $(cuda_modules)

# $(call registry,HEADER,TYPE,ARRAY,PREFIX,FOLDER): each FOLDER/PREFIX_x.c defines `const struct TYPE PREFIX_x`.
names    = $(basename $(notdir $(filter-out $(if $(nvtx),,%/source_nvtx.c),$(sort $(wildcard $(2)/$(1)_*.c)))))
registry = echo '\#include "$(1)"'; $(foreach n,$(call names,$(4),$(5)),echo 'extern const struct $(2) $(n);';) \
           echo 'extern const struct $(2) *const $(3)[];'; echo 'const struct $(2) *const $(3)[] = {$(foreach n,$(call names,$(4),$(5)),&$(n),) 0};'
if_new   = cmp -s $@.new $@ && rm $@.new || mv $@.new $@
define registry_rule
$(BUILD)/gen/$(3).c: FORCE
	@mkdir -p $$(@D); { $(call registry,$(1),$(2),$(3),$(4),$(5)); } > $$@.new; $$(if_new)
endef
$(eval $(call registry_rule,analyzer/cmd.h,cmd,cmds,cmd,analyzer))
$(eval $(call registry_rule,analyzer/import.h,importer,importers,import,analyzer))
$(eval $(call registry_rule,analyzer/trace.h,table_desc,table_descs,table,analyzer))
$(eval $(call registry_rule,analyzer/export.h,exporter,exporters,export,analyzer))
$(eval $(call registry_rule,reports/render.h,renderer,renderers,render,reports))
$(eval $(call registry_rule,kernels/modes/mode.h,cp_mode,modes,mode,kernels/modes))
$(eval $(call registry_rule,kernels/bench.h,bench_cmd,bench_cmds,bench,kernels))
$(eval $(call registry_rule,kernels/device/backend.h,device_backend,device_backends,device,kernels/device))
$(eval $(call registry_rule,kernels/comm/backend.h,comm_backend,comm_backends,comm,kernels/comm))
$(eval $(call registry_rule,kernels/vectors/vectors.h,vector_form,vector_forms,vec,kernels/vectors))
$(eval $(call registry_rule,collector/recorder.h,event_source,event_sources,source,collector))

# ---- text that goes into the programs: $(call cstring,SYMBOL,FILES) ----
cstring = echo 'extern const char $(1)[];'; echo 'const char $(1)[] ='; cat $(2) | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' -e 's/^/"/' -e 's/$$/\\n"/'; echo ';'
migrations := $(sort $(wildcard schemas/[0-9]*.sql))
$(BUILD)/gen/tracefile_schema.c: schemas/trace.sql $(migrations) Makefile
	@mkdir -p $(@D); echo 'PRAGMA application_id = 1668313955; PRAGMA user_version = $(words 1 $(migrations));' > $(BUILD)/gen/version.sql
	@{ $(call cstring,tracefile_schema,schemas/trace.sql $(migrations) $(BUILD)/gen/version.sql); } > $@
# reports/page.css -> asset_page_css, and a table of them all
assets := $(sort $(wildcard reports/*.html reports/*.css reports/*.js reports/*.gp reports/*.rules))
asym    = asset_$(subst -,_,$(subst .,_,$(notdir $(1))))
$(BUILD)/gen/assets.c: $(assets) Makefile FORCE
	@mkdir -p $(@D); { echo '#include "reports/asset.h"'; $(foreach f,$(assets),$(call cstring,$(call asym,$(f)),$(f));) \
	  echo 'const struct asset assets[] = {'; $(foreach f,$(assets),echo '{"$(notdir $(f))", $(call asym,$(f))},';) echo '{0}};'; } > $@.new; $(if_new)

# kernels/machines/NAME -> machine_files[], kernels/configs/NAME -> config_files[]: texts that cpbench carries
define texts_rule
$(BUILD)/gen/$(1).c: $$(wildcard kernels/$(1)/*) Makefile FORCE
	@mkdir -p $$(@D); { echo '#include "schemas/keyvalue.h"'; $$(foreach f,$$(sort $$(wildcard kernels/$(1)/*)),$$(call cstring,$(2)_text_$$(subst -,_,$$(subst .,_,$$(notdir $$(f)))),$$(f));) \
	  echo 'extern const struct keyvalue_text $(2)_files[];'; echo 'const struct keyvalue_text $(2)_files[] = {'; \
	  $$(foreach f,$$(sort $$(wildcard kernels/$(1)/*)),echo '{"$$(notdir $$(f))", $(2)_text_$$(subst -,_,$$(subst .,_,$$(notdir $$(f))))},';) echo '{0}};'; } > $$@.new; $$(if_new)
endef
$(eval $(call texts_rule,machines,machine))
$(eval $(call texts_rule,configs,config))
$(eval $(call texts_rule,matrices,matrix))

# ---- compile ----
# Links depend on the list of sources and objects on the flags, so that a new or deleted file or flag rebuilds what it must.
$(BUILD)/gen/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(CPPFLAGS) $(filter-out -Werror,$(CFLAGS))' > $@.new; $(if_new) # errors or warnings: the object is the same
$(BUILD)/gen/sources: FORCE
	@mkdir -p $(@D); echo '$(src_schemas) $(src_reports) $(src_analyzer) $(src_kernels) $(src_collector)' > $@.new; $(if_new)
$(BUILD)/obj/%.o: %.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/collector/%.o: CFLAGS += -fno-omit-frame-pointer # stacks start in there
$(BUILD)/obj/tests/%.o: CPPFLAGS += -Itests -DTEST_DATA='"$(CURDIR)/tests/data"' -DTEST_ROOT='"$(CURDIR)"' -DTEST_BUILD='"$(abspath $(BUILD))"'
$(BUILD)/obj/tests/%.o: CFLAGS += -Wno-missing-prototypes

obj_schemas   := $(call objects,$(src_schemas)) $(call genobj,tracefile_schema)
obj_reports   := $(call objects,$(src_reports)) $(call genobj,$(gen_reports))
obj_analyzer  := $(call objects,$(src_analyzer)) $(call genobj,$(gen_analyzer))
obj_kernels   := $(call objects,$(src_kernels)) $(call genobj,$(gen_kernels))
obj_collector := $(call objects,$(src_collector)) $(call genobj,$(gen_collector))
define archive_rule
$(call lib,$(1)): $$(obj_$(1)) $(BUILD)/gen/sources
	@mkdir -p $$(@D); rm -f $$@; ar rcs $$@ $$(obj_$(1))
endef
$(foreach l,$(libs),$(eval $(call archive_rule,$(l))))

# Libraries that came along with the program are found beside it, and so are theirs (make dist).
beside := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/cpscope'
$(BUILD)/bin/cpscope: $(BUILD)/obj/analyzer/main.o $(call lib,analyzer) $(call lib,reports) $(call lib,schemas)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(beside) -o $@ $^ $(analyzer_libs) $(base_libs)
$(BUILD)/bin/cpbench: $(BUILD)/obj/kernels/bench.o $(call lib,kernels) $(call lib,schemas)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -Wl,--export-dynamic-symbol=cpscope_activity_subscribe -o $@ $^ $(kernels_libs) $(base_libs)
src_mpi := $(sort $(wildcard kernels/comm/mpi/*.c))
# Backends that need what not every machine has are modules, loaded when asked for; without mpicc there is none for MPI.
$(BUILD)/lib/cpscope/comm_mpi.so: $(src_mpi) kernels/comm/mpi/messages.h kernels/comm/narrow.h kernels/comm/backend.h kernels/comm/comm.h kernels/comm/mpi_module.h schemas/version.h $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)if command -v mpicc > /dev/null; then OMPI_CC="$(CC)" MPICH_CC="$(CC)" mpicc $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(filter %.c,$^); \
	  else echo "  no mpicc: without comm_mpi.so"; fi
# ---- CUDA: device_cuda.so of kernels/device/cuda and every table of a .cu ----
$(BUILD)/gen/cuda_tables.c: FORCE
	@mkdir -p $(@D); { echo '#include "kernels/device/cuda_kernel.h"'; echo 'extern const struct cuda_kernel *const cuda_tables[];'; \
	  $(foreach n,$(basename $(notdir $(cu_tables))),echo 'extern const struct cuda_kernel cuda_table_$(n)[];';) \
	  echo 'const struct cuda_kernel *const cuda_tables[] = {$(foreach n,$(basename $(notdir $(cu_tables))),cuda_table_$(n),) 0};'; } > $@.new; $(if_new)
# Without WERROR, so that no other build compiles them again.
nvcc_flags := -std=c++17 -O3 -I. -lineinfo $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$(a),code=sm_$(a)) \
              -Xcompiler -fPIC,-fvisibility=hidden,-Wall
$(BUILD)/gen/nvcc_flags: FORCE
	@mkdir -p $(@D); echo '$(NVCC) $(nvcc_flags)' > $@.new; $(if_new)
$(BUILD)/cuda/%.o: %.cu $(BUILD)/gen/nvcc_flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  NVCC $<")
	$(Q)$(nvcc_run) $(nvcc_flags) -MMD -MP -c $< -o $@
$(BUILD)/cuda/%.o: %.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -isystem $(CUDA)/include $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/cuda/cuda_tables.o: $(BUILD)/gen/cuda_tables.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -isystem $(CUDA)/include $(CFLAGS) -c $< -o $@
obj_of   = $(addsuffix .o,$(addprefix $(1)/,$(basename $(2))))
obj_cuda := $(call obj_of,$(BUILD)/cuda,$(src_cuda)) $(BUILD)/cuda/cuda_tables.o
obj_nccl := $(call obj_of,$(BUILD)/cuda,$(src_nccl))
nvcc_link = $(NVCC) -shared -cudart shared -o $@ $(1) -L$(CUDA)/lib64 $(2) -Xlinker -z,defs -Xlinker -rpath,$(CUDA)/lib64
$(BUILD)/lib/cpscope/device_cuda.so: $(obj_cuda) $(BUILD)/gen/nvcc_flags
	@mkdir -p $(@D)
	$(Q)$(call nvcc_link,$(obj_cuda),-lcublas)
$(BUILD)/lib/cpscope/comm_nccl.so: $(obj_nccl) $(BUILD)/gen/nvcc_flags
	@mkdir -p $(@D)
	$(Q)$(call nvcc_link,$(obj_nccl),-lnccl)

# The name of every struct kernel in the tree: what must have a row in a table of a .cu.
$(BUILD)/gen/kernel_names: $(src_kernels) tests/kernel_names.sh $(BUILD)/gen/flags $(BUILD)/gen/sources
	@mkdir -p $(@D)
	$(Q)bash tests/kernel_names.sh $(CC) $(CPPFLAGS) > $@

# The same sources against a stand-in for a GPU (tests/fake/cuda), beside a copy of the program: needs no toolkit.
standin      := $(BUILD)/standin
standin_ok   := $(if $(SAN)$(COV)$(findstring clang,$(CC)),,yes)
standin_inc  := -I. -Itests/fake/cuda
obj_fake     := $(call obj_of,$(standin)/obj,$(sort $(wildcard tests/fake/cuda/*.c tests/fake/cuda/*.cc)))
$(standin)/obj/%.o: %.cu $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) $(standin_inc) -D_GNU_SOURCE -D__CUDACC__ -include cuda_runtime.h -std=c++17 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off -pthread -Wall -MMD -MP -x c++ -c $< -o $@
$(standin)/obj/%.o: %.cc $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) $(standin_inc) -D_GNU_SOURCE -std=c++17 -O2 -g -fPIC -pthread -Wall -MMD -MP -c $< -o $@
$(standin)/obj/tests/%.o: tests/%.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(standin_inc) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -MMD -MP -c $< -o $@
$(standin)/obj/%.o: %.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(standin_inc) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(standin)/obj/cuda_tables.o: $(BUILD)/gen/cuda_tables.c $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(standin_inc) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
# One library for the stand-ins, as there is one driver.
$(standin)/lib/libstandin.so: $(obj_fake)
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -pthread -Wl,-soname,$(@F) -o $@ $^ -Wl,-z,defs -lopenblas -lm
$(standin)/lib/cpscope/device_cuda.so: $(call obj_of,$(standin)/obj,$(src_cuda)) $(standin)/obj/cuda_tables.o $(standin)/lib/libstandin.so
$(standin)/lib/cpscope/comm_nccl.so: $(call obj_of,$(standin)/obj,$(src_nccl)) $(standin)/lib/libstandin.so
$(standin)/lib/cpscope/%.so:
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -pthread -o $@ $^ -Wl,-z,defs -Wl,-rpath,'$$ORIGIN/..'
$(standin)/bin/cpbench: $(BUILD)/bin/cpbench $(addprefix $(standin)/lib/cpscope/,device_cuda.so comm_nccl.so)
	@mkdir -p $(@D); cp $< $@

# A sanitizer's runtime cannot be preloaded into a plain program: the library is plain in every build, its unit tests are not.
link_inject = -shared -Wl,-z,nodelete -Wl,--exclude-libs,ALL
ifeq ($(SAN),)
$(BUILD)/lib/libcpscope.so: $(obj_collector) $(BUILD)/obj/collector/portable/glibc.o $(call lib,schemas) $(BUILD)/gen/sources
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(link_inject) -o $@ $(obj_collector) $(BUILD)/obj/collector/portable/glibc.o $(call lib,schemas) $(inject_libs)
else
$(BUILD)/lib/libcpscope.so: $(src_collector) collector/portable/glibc.c $(src_schemas) $(wildcard collector/*.h schemas/*.h schemas/*.def) $(BUILD)/gen/event_sources.c $(BUILD)/gen/tracefile_schema.c $(BUILD)/gen/flags $(BUILD)/gen/sources
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(CFLAGS)) $(link_inject) -o $@ $(filter %.c,$^) $(inject_libs)
endif

# ---- tests: a binary per tests/unit/test_*.c, a golden per tests/cli/*.sh ----
units := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort $(filter-out $(if $(SAN),tests/unit/test_cuda_%),$(wildcard tests/unit/test_*.c))))
$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(foreach l,analyzer reports kernels collector schemas,$(call lib,$(l)))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(analyzer_libs) $(kernels_libs) $(base_libs)
# The stand-in for CUDA's runtime and CUPTI, instrumented as the test that runs it.
fake_cupti := $(BUILD)/tests/fake/libcudart.so.13
$(fake_cupti): $(wildcard tests/fake/cupti/*.[ch]) tests/fake/cupti/runtime.map collector/cupti_abi.h $(BUILD)/gen/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -fvisibility=default $(LDFLAGS) -shared -Wl,-soname,libcudart.so.13 \
	  -Wl,--version-script=tests/fake/cupti/runtime.map -o $@ $(addprefix tests/fake/cupti/,cupti.c records.c runtime.c work.c launches.c) -ldl
$(BUILD)/tests/test_cupti_threads: | $(fake_cupti)
# Those of kernels on CUDA run them on the stand-in, in this program. It has no sanitizer, which would see nothing then.
cuda_standin := $(call obj_of,$(standin)/obj,$(cu_tables)) $(standin)/obj/cuda_tables.o $(obj_fake)
$(BUILD)/obj/tests/unit/test_cuda_%.o: CPPFLAGS += -Itests/fake/cuda
$(BUILD)/tests/test_cuda_%: $(BUILD)/obj/tests/unit/test_cuda_%.o $(cuda_standin) $(foreach l,kernels schemas,$(call lib,$(l)))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(kernels_libs) $(base_libs)
tests: all $(units) $(BUILD)/gen/kernel_names $(if $(standin_ok),$(standin)/bin/cpbench)
tests-threads: all $(patsubst %,$(BUILD)/tests/%,$(shell cat tests/threads)) # those that a thread sanitizer has something to see in
check: $(if $(NODEPS),,deps) tests
	@BUILD=$(abspath $(BUILD)) SAN="$(SAN)" bash tests/run.sh
check-long: deps tests
	@BUILD=$(abspath $(BUILD)) SAN="$(SAN)" LONG=1 bash tests/run.sh
update: tests
	@BUILD=$(abspath $(BUILD)) UPDATE=1 bash tests/run.sh
bench: all
	@BUILD=$(abspath $(BUILD)) bash tests/bench/run.sh
gpu-check: all $(BUILD)/gen/kernel_names
	@BUILD=$(abspath $(BUILD)) bash tests/gpu_check.sh
fuzz:
	@BUILD=$(abspath $(BUILD)) bash tests/fuzz/run.sh
repro: deps all
	@BUILD=$(abspath $(BUILD)) bash kernels/repro.sh
repro-%: deps all # an experiment of kernels/matrices, under $(BUILD)/repro
	@$(BUILD)/bin/cpbench matrix $*
lint:
	@bash tests/lint.sh
format:
	clang-format -i $$(git ls-files '*.c' '*.h')
coverage:
	$(MAKE) COV=1 check
	gcovr -r . --object-directory build-cov --exclude tests/ --print-summary
deps:
	@bash tests/deps.sh
manuals: all
	$(Q)bash analyzer/manuals.sh $(abspath $(BUILD))/bin $(BUILD)
shared := $(DESTDIR)$(PREFIX)/share
install: manuals
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include $(shared)/man/man1 $(shared)/cpscope/ci \
	  $(shared)/bash-completion/completions $(shared)/zsh/site-functions
	install -m755 $(BUILD)/bin/cpscope $(BUILD)/bin/cpbench $(DESTDIR)$(PREFIX)/bin
	install -m755 $(BUILD)/lib/libcpscope.so $(DESTDIR)$(PREFIX)/lib
	for m in $(BUILD)/lib/cpscope/*.so; do [ ! -f $$m ] || install -Dm755 -t $(DESTDIR)$(PREFIX)/lib/cpscope $$m; done
	install -m644 collector/cpscope.h $(DESTDIR)$(PREFIX)/include
	install -m644 reports/default.rules $(shared)/cpscope
	install -m644 reports/ci/* $(shared)/cpscope/ci
	install -m644 $(BUILD)/man/*.1 $(shared)/man/man1
	install -m644 $(BUILD)/completion/cpscope $(BUILD)/completion/cpbench $(shared)/bash-completion/completions
	install -m644 $(BUILD)/completion/_cpscope $(BUILD)/completion/_cpbench $(shared)/zsh/site-functions
dist: $(BUILD)/bin/cpscope $(BUILD)/lib/libcpscope.so
	@bash analyzer/dist.sh $(abspath $(BUILD))
clean:
	rm -rf build build-san build-tsan build-cov build-clang build-fuzz build-clang-fuzz

-include $(shell find $(BUILD)/obj $(BUILD)/cuda $(standin)/obj -name '*.d' 2>/dev/null)
